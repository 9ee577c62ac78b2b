"""Where tables come from: Parquet, workbooks, frames, databases, and several files read as one."""
