"""Open files: a connection is one, and many systems allow a process 1024.

Law of this module: the soft limit is raised within the hard one, never lowered, and once, by
whoever starts the process.
"""

import resource


def allow_open_files(wanted: int) -> int:
    """Raise the process' soft limit towards ``wanted``; return what is allowed now.

    A listener whose process runs out of files drops what it cannot accept, and serves the rest.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft == resource.RLIM_INFINITY or allowed <= soft:
        return soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed
