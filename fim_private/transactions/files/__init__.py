"""Files as bytes, as lines of UTF-8 and as fields, and what keeps libraries that read them in check."""
