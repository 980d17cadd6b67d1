// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Store.varlink; a test compares the two.
  package static let store = VarlinkInterface(
    """
    # The store: its verification and its backups.
    interface io.threadkeeper.Store

    # Of a verification items, of a backup bytes.
    type Progress (done: int, total: int)

    # What a verification found. `condition` is `healthy`, or `read-only: ` and why.
    type Verified (
      # That there should be.
      items: int,
      matches_manifest: bool,
      # Of items that do not open.
      damaged_rows: []int,
      # Items whose secret was not opened, because the store is locked.
      locked: int,
      condition: string,
      # Absent while the audit is as it was written.
      audit_problem: ?string
    )

    # A backup: `bytes` are those of the database in it, `file_bytes` those of the whole file.
    type BackedUp (store_id: string, items: int, bytes: int, file_bytes: int)

    # Checks that every item and every record of the audit opens, and that none was added, removed or replaced. A stream
    # (`more`): how far it is; `verified` comes last.
    method Verify() -> (progress: ?Progress, verified: ?Verified)

    # Copies the store, sealed as it is. A stream (`more`): first how far it is, then the bytes of the file in pieces, as
    # base64; `made` comes last. An incomplete file cannot be restored.
    method Backup() -> (progress: ?Progress, data: ?string, made: ?BackedUp)

    """)
}
