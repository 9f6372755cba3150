"""A model in the formats of other runtimes: nobody who trained here is locked in."""
