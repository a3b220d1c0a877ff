"""Looking ahead: buying what later questions will need."""
