"""Other tools' systems and files: python-control both ways, MAT-files of linear systems."""
