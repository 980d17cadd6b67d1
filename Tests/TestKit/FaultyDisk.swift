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
    /// The n-th write puts the first half of its bytes there, and fails.
    case shortWrite(at: Int)
    /// The n-th sync fails, and of what was written to that file since the last one any part may be lost, though it
    /// could be read until then: so does Linux. Later calls work.
    case failedSync(at: Int, seed: UInt64)
    /// In the n-th write, sync or truncation the power goes: of what was written since the last
    /// sync, any part may be there, and every later call fails. So pages are torn, too.
    case powerCut(at: Int, seed: UInt64)
    /// The same on a disk that lies: its syncs do nothing and succeed.
    case lyingSync(cutAt: Int, seed: UInt64)

    /// Whether what a write replaces may be needed again.
    var losesWrites: Bool {
      switch self {
      case .ioError, .full, .shortWrite: false
      case .failedSync, .powerCut, .lyingSync: true
      }
    }
  }

  enum Operation { case read, write, sync, truncate }

  struct State {
    var fault: Fault?
    var calls = 0
    var isCut = false
    var hasFired = false
    /// Sectors that were written and are not there any more.
    var lost = 0
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

  /// Sectors that were written, and that the fault has taken back: a test whose faults take nothing back shows nothing.
  package var lost: Int { state.withLock { $0.lost } }

  /// What becomes of a call.
  enum Verdict {
    /// It goes its way.
    case works
    case fails(Int32)
    /// Half of it is done.
    case isShort(Int32)
    /// It fails, and what was not synced is lost.
    case loses(Int32, seed: UInt64)
    /// The power goes now.
    case cut(seed: UInt64)
    /// It does nothing, and says that it did.
    case lies
  }

  func verdict(_ operation: Operation) -> Verdict {
    state.withLock { state in
      guard !state.isCut else { return .fails(SQLITE_IOERR) }
      guard let fault = state.fault, fault.concerns(operation) else { return .works }
      state.calls += 1
      switch fault {
      case .ioError(let number): return state.fires(at: number) ? .fails(operation.errorCode) : .works
      case .full(let number): return state.fires(from: number) ? .fails(SQLITE_FULL) : .works
      case .shortWrite(let number): return state.fires(at: number) ? .isShort(operation.errorCode) : .works
      case .failedSync(let number, let seed):
        return state.fires(at: number) ? .loses(operation.errorCode, seed: seed) : .works
      case .powerCut(let number, let seed):
        guard state.fires(at: number) else { return .works }
        state.isCut = true
        return .cut(seed: seed)
      case .lyingSync(let number, let seed):
        guard state.fires(at: number) else { return operation == .sync ? .lies : .works }
        state.isCut = true
        return .cut(seed: seed)
      }
    }
  }
}

extension FaultyDisk {
  /// Has `body` arm a fault at one call after the other, each time with a new disk, until it comes no more: at every
  /// `step`-th call, and at every call with SOAK_ROUNDS=all in the environment.
  ///
  /// - Returns: how often it came.
  package static func tryCalls(_ fault: (Int) -> Fault, step: Int = 1, _ body: (FaultyDisk, Fault) throws -> Void)
    throws -> Int
  {
    var fired = 0
    for number in stride(from: 1, through: 1_000, by: Soak.triesAll ? 1 : step) {
      let disk = FaultyDisk()
      try body(disk, fault(number))
      guard disk.hasFired else { return fired }
      fired += 1
    }
    throw TimedOut(description: "the end of the calls that fail")
  }
}

extension FaultyDisk.Fault {
  /// Whether a call counts.
  fileprivate func concerns(_ operation: FaultyDisk.Operation) -> Bool {
    switch self {
    case .ioError: true
    case .full, .shortWrite: operation == .write
    case .failedSync: operation == .sync
    case .powerCut, .lyingSync: operation != .read
    }
  }
}

extension FaultyDisk.State {
  fileprivate mutating func fires(at number: Int) -> Bool {
    guard calls == number else { return false }
    hasFired = true
    return true
  }

  fileprivate mutating func fires(from number: Int) -> Bool {
    guard calls >= number else { return false }
    hasFired = true
    return true
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
