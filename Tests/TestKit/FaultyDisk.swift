// SPDX-License-Identifier: Apache-2.0

import CLibSQLite
import Synchronization

/// A disk that fails when it is told to: a virtual file system of SQLite over the real one. Give
/// its `name` to `SQLiteDatabase.Options.vfs` or `KeychainOptions.vfs`.
///
/// It lives as long as the process: a connection that a test left open may still ask it.
package final class FaultyDisk: Sendable {
  package enum Fault: Sendable {
    /// The n-th call (from 1: reads, writes, syncs and truncations count) fails, the others work.
    case ioError(at: Int)
    /// From the n-th write on there is no space, until `repair`.
    case full(at: Int)
    /// In the n-th write, sync or truncation the power goes: of what was written since the last
    /// sync, any part may be there, and every later call fails.
    case powerCut(at: Int, seed: UInt64)
  }

  enum Operation {
    case read, write, sync, truncate
  }

  struct State {
    var fault: Fault?
    var calls = 0
    var isCut = false
    var hasFired = false
    /// What each file had before the writes that are not synced yet, oldest first.
    var unsynced: [UInt: [Overwritten]] = [:]
  }

  /// Bytes that a write replaced.
  struct Overwritten {
    var offset: Int64
    var old: [UInt8]
  }

  package let name: String
  let state = Mutex(State())

  package init() {
    name = "faulty-\(UInt64.random(in: .min ... .max))"
    register()
  }

  /// Counts from now, and fails when it is time.
  package func arm(_ fault: Fault) {
    state.withLock {
      $0.fault = fault
      $0.calls = 0
      $0.hasFired = false
    }
  }

  /// Works again, unless the power was cut.
  package func repair() { state.withLock { $0.fault = nil } }

  /// Whether the fault came: a test that goes through all n ends when it does not.
  package var hasFired: Bool { state.withLock { $0.hasFired } }

  /// What becomes of a call: nil when it goes its way. `cut` tells that the power goes now.
  func verdict(_ operation: Operation) -> (code: Int32?, cut: UInt64?) {
    state.withLock { state in
      if state.isCut { return (SQLITE_IOERR, nil) }
      switch state.fault {
      case nil:
        return (nil, nil)
      case .ioError(let number):
        state.calls += 1
        guard state.calls == number else { return (nil, nil) }
        state.hasFired = true
        return (operation.errorCode, nil)
      case .full(let number):
        guard operation == .write else { return (nil, nil) }
        state.calls += 1
        guard state.calls >= number else { return (nil, nil) }
        state.hasFired = true
        return (SQLITE_FULL, nil)
      case .powerCut(let number, let seed):
        guard operation != .read else { return (nil, nil) }
        state.calls += 1
        guard state.calls == number else { return (nil, nil) }
        state.hasFired = true
        state.isCut = true
        return (nil, seed)
      }
    }
  }
}

extension FaultyDisk.Operation {
  /// SQLITE_IOERR_READ, …_WRITE, …_FSYNC, …_TRUNCATE: their definitions are too much for Swift.
  fileprivate var errorCode: Int32 {
    let number: Int32 =
      switch self {
      case .read: 1
      case .write: 3
      case .sync: 4
      case .truncate: 6
      }
    return SQLITE_IOERR | number << 8
  }
}
