"""Papers: methods that papers describe and eke does better otherwise, to compare with.

`methods.posterior_by` gives what history says by one of them: the convolutions and draws of BAYES
§4, and the product over representations of ONLINE. `eigenquery` is of HIST.
"""
