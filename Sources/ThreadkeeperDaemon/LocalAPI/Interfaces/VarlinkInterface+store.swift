// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Store.varlink; a test compares the two.
  package static let store = VarlinkInterface(
    """
    # The store: its lock, for items that are accessible only while it is unlocked, and all its items in one file.
    interface io.threadkeeper.Store

    # `value` is a path, a passphrase, the name of a credential, or a recovery code.
    type Secret (
      kind: (key_file, passphrase, systemd_credential, recovery_code, passphrase_or_code),
      value: string
    )

    # Of an export and a verification items, of a backup bytes; of an import bytes, and each is read twice.
    type Progress (done: int, total: int)

    type Exported (
      store_id: string,
      items: int,
      # Of the file.
      bytes: int,
      # Items that do not open, and are not in the file.
      damaged: int,
      # Items for this device only, by class, which are not in the file.
      left_out: [string]int
    )

    # An item that the store has with other contents. `item` has its class, names and group; `differs` has `secret`,
    # `accessible`, `damaged`, or four letters of an attribute. To replace it deletes `removes`.
    type Conflict (item: string, differs: []string, removes: []string)

    # One of them: an item is here with other contents; an enrolled client or a consent "always" comes in.
    type Name (conflict: ?Conflict, client: ?string, consent: ?string)

    # Numbers of items.
    type Imported (
      # The store that was exported, and when.
      store_id: string,
      created: string,
      # Of the export.
      items: int,
      added: int,
      unchanged: int,
      kept: int,
      replaced: int,
      # Of the store, that were in the way of what was replaced.
      deleted: int,
      conflicts: int,
      # That are not imported: see `Import`.
      left_out: int,
      # What the export does not have, by class, and items that did not open there.
      not_in_export: [string]int,
      damaged_there: int,
      # Homes that the settings do not name.
      unknown_homes: []string,
      # False after a dry run, and where conflicts were refused: nothing has changed then.
      imported: bool
    )

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

    # Locks the store, also while something else is under way. `guarded`: whether it takes a passphrase or a recovery
    # code to unlock it. The record in the audit may follow later.
    method Lock() -> (unlocked: bool, guarded: bool)

    # Unlocks the store.
    method Unlock(secret: Secret) -> (unlocked: bool, guarded: bool)

    # Seals the items, but those for this device only, with a passphrase. A stream (`more`): first how far it is, then
    # the bytes of the file in pieces, as base64; `exported` comes last. A file without all of its pieces is worth
    # nothing. `file` names it, for messages and for the audit.
    method Export(passphrase: string, file: string) -> (
      progress: ?Progress,
      data: ?string,
      exported: ?Exported
    )

    # Brings the next bytes of an export, as base64, for `Import` on the same connection: in one hour at most 4 GiB.
    # `Import` takes them, whatever comes of it, and they are dropped with the connection. `bytes`: how many there
    # are now.
    method Upload(data: string) -> (bytes: int)

    # Takes what was uploaded into the store: all of it or nothing. A store that has clients, consents "always" or border
    # routers of its own takes an export with `credentials_only`: credentials and the preferred network. Consents for users
    # of the machine, requests and decisions of the past, and what a router was being sent are left out always. A stream
    # (`more`): how far it is and what is to be named, in any order; `imported` comes last. A caller that goes before ends
    # it, and nothing has changed. Without `on_conflict` conflicts are refused.
    method Import(
      passphrase: string,
      file: string,
      on_conflict: ?(refuse, keep, replace),
      dry_run: ?bool,
      credentials_only: ?bool
    ) -> (
      progress: ?Progress,
      names: ?[]Name,
      imported: ?Imported
    )

    # Checks that every item and every record of the audit opens, and that none was added, removed or replaced. A stream
    # (`more`): how far it is; `verified` comes last.
    method Verify() -> (progress: ?Progress, verified: ?Verified)

    # Copies the store, sealed as it is. A stream (`more`): first how far it is, then the bytes of the file in pieces, as
    # base64; `made` comes last. An incomplete file cannot be restored.
    method Backup() -> (progress: ?Progress, data: ?string, made: ?BackedUp)

    """)
}
