"""What makes a page a test: claims, profiles, the runner, the ledger, and the `hier` command.

This file stays empty of imports: `hier` answers before torch or matplotlib could be loaded, and a page depends
only on the modules it names.
"""
