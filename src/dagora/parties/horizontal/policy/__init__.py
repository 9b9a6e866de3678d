"""The policy of a site's owner: a file, deny by default, against which plans are checked."""
