"""The pages that are made from the code: today the reference of Python, `make reference`."""
