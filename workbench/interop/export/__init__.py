"""A law out of the workbench: as C99, judged again as code.

`law_graph` traces the law alone, `straight` has its equations as one operation a line, `languages` writes these, `package` puts the
files into a folder, `compiled` runs what was exported as a controller, `replay` is what the law saw in a run.
"""
