"""Files opened with care and written whole: what others read and write through."""
