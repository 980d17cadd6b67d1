import KeychainCore
import SQLiteDatabase

/// The store's failures in words that a person can act upon.
enum StoreFailure {
  static func damaged(_ path: String) -> String {
    "the store in \(path) is damaged. Stop the daemon, put a backup in place with "
      + "`threadkeeper store restore`, and start it"
  }

  static func reason(_ error: any Error, path: String) -> String {
    switch error {
    case let error as SQLiteError:
      switch error.kind {
      case .full: diskFull(path)
      case .readOnly: readOnly(path)
      case .busy: "another program keeps the store in \(path) locked; stop it"
      case .corrupt, .notADatabase: damaged(path)
      case .moved:
        "the store in \(path) was deleted or replaced while the daemon runs. Put its files back, and "
          + "intake resumes by itself; else stop the daemon, run `threadkeeper store restore`, and " + "start it"
      case .io: "the disk that holds \(path) fails (\(error.message)); check it"
      default: "the store in \(path) refuses to write: \(error.message)"
      }
    case let error as KeychainError:
      if let cause = error.cause {
        reason(cause, path: path)
      } else {
        error.status == .diskFull ? diskFull(path) : error.message
      }
    default: "\(error)"
    }
  }

  private static func diskFull(_ path: String) -> String {
    "the disk that holds \(path) is full; free some space, and intake resumes by itself"
  }

  private static func readOnly(_ path: String) -> String {
    "the store in \(path) cannot be written; make the disk and its files writable again, "
      + "and intake resumes by itself"
  }
}
