"""One file from a web address: continued where it broke off, left when the server falls silent, kept if its digest fits."""

import http.client
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue

from hierlib.data.catalogue import DataError, is_right

Say = Callable[[str], None]
CHUNK = 1 << 20
ANSWER_SECONDS = 10  # a source that has not answered by then is not there
STALL_SECONDS = 30  # without a byte, after which we leave
LIMIT_SECONDS = 3600  # for one file, however steadily it comes


def download(address: str, path: Path, expected: str, say: Say) -> None:
    """Fetch one file; a partial download (`<name>.part`) is continued, a complete one must match its digest."""
    part = path.with_name(path.name + ".part")
    start = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={start}-"} if start else {})
    try:
        with _answer(request) as answer:
            _receive(answer, part, start if answer.status == 206 else 0, say)
    except urllib.error.URLError as error:
        # 416: the server has nothing beyond the partial download, so it is complete or wrong; the digest decides
        if not (start and isinstance(error, urllib.error.HTTPError) and error.code == 416):
            raise DataError(f"{address} does not answer ({error.reason})") from None
    except _BrokeOff as error:
        raise DataError(f"{address} broke off after {error}; ask again to continue") from None
    if not is_right(part, expected):
        part.unlink()
        raise DataError(f"{address} sent a file with the wrong digest")
    part.replace(path)


class _BrokeOff(Exception):
    """How far a download came, and why it did not come further."""


def _answer(request: urllib.request.Request) -> http.client.HTTPResponse:
    """The answer to a request within ANSWER_SECONDS in all; after that every byte may take STALL_SECONDS.

    urllib has one limit for each single step and none for the search for an address: hence a thread, which ends by itself.
    """
    answers: SimpleQueue[http.client.HTTPResponse | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(urllib.request.urlopen(request, timeout=STALL_SECONDS))
        except (OSError, http.client.HTTPException) as error:
            answers.put(error if isinstance(error, urllib.error.URLError) else urllib.error.URLError(error))

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=ANSWER_SECONDS)
    except Empty:
        raise urllib.error.URLError(f"not within {ANSWER_SECONDS} s") from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _receive(answer: http.client.HTTPResponse, part: Path, done: int, say: Say) -> None:
    """Append what comes to the first `done` bytes of `part`, piece by piece: whatever happens, what came is kept."""
    name, until = part.stem, time.monotonic() + LIMIT_SECONDS
    total = done + int(answer.headers.get("Content-Length") or 0)
    say(f"{name}: {'continuing' if done else 'starting'} at {done >> 20} of {total >> 20} MB")
    with part.open("ab" if done else "wb") as file:
        try:
            while block := answer.read1(CHUNK):
                file.write(block)
                done += len(block)
                if total and done * 10 // total != (done - len(block)) * 10 // total:
                    say(f"{name}: {100 * done // total} %")
                if time.monotonic() > until:
                    break
        except TimeoutError:
            raise _BrokeOff(f"{done} of {total} bytes (nothing came for {STALL_SECONDS} s)") from None
        except (ConnectionError, http.client.HTTPException) as error:
            raise _BrokeOff(f"{done} of {total} bytes ({error})") from None
    if done < total:
        raise _BrokeOff(f"{done} of {total} bytes")
