"""Requirements as sentences in signal temporal logic over the signals of a run; docs/requirements.md is the page on them."""
