"""Settings shared by all tests."""

from hypothesis import settings

# Workers share the cores with each other and with the compiler, so wall-clock deadlines would only
# measure the load of the machine.
settings.register_profile("eke", deadline=None)
settings.load_profile("eke")
