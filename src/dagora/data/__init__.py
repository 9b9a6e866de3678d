"""Tables of typed columns: reading, writing, cutting into levels, splitting among parties."""
