"""Tables of columns: their names and roles, their cells as text, and the filter of their rows."""
