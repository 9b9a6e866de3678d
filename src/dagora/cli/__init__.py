"""The subcommands of `dagora`, one file each."""
