"""What the templates of views and functions are filled in with."""
