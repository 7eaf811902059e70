"""What the site is built with: pages out of classes, examples that are run, pictures they draw.

A new claim, machine, drive, supply, law or friction law needs nothing here: its page is written from its class.
"""
