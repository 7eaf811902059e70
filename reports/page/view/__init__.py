"""`workbench view FILE`: the page of a case in the browser, verified again whenever its file changes."""
