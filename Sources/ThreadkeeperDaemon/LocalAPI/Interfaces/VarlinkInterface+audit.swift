// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Audit.varlink; a test compares the two.
  package static let audit = VarlinkInterface(
    """
    # The audit: who changed what in the store.
    interface io.threadkeeper.Audit

    # `action` is one of a fixed list, `subject` what it was done to: never a secret.
    type Change (action: string, subject: string)

    # What one party did in one transaction. Numbers count from 1 without gaps; `time` is RFC 3339. A record with many
    # changes comes in several of these, one after the other: all but the last have `continues`.
    type Record (
      number: int,
      time: string,
      actor: string,
      changes: []Change,
      continues: ?bool
    )

    # The records after number `after`, or without that the last `last` ones, the oldest first; and then each as it is
    # written. Has to be called with `more`. The first reply comes at once, and may have none. The stream ends when the
    # client closes the connection, or the daemon ends. `last` of a reply is the number of the last record that is
    # complete with it, from which another call can go on. With `until_now` the stream ends with the newest record.
    method Follow(after: ?int, last: ?int, until_now: ?bool) -> (records: []Record, last: int)

    # Goes through all records. `problem`: which one is missing, altered or not in its place; absent when all is well.
    method Verify() -> (records: int, problem: ?string)

    """)
}
