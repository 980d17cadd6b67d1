import Glibc

/// Where state lies that no key names a place for. The first that is there:
///
/// 1. what the caller says (`--state-directory`),
/// 2. `$THREADKEEPER_STATE_DIRECTORY`,
/// 3. `$STATE_DIRECTORY`, which systemd sets for a unit with `StateDirectory=`,
/// 4. for root, `/var/lib/threadkeeper` (see `SystemPlaces`),
/// 5. `$XDG_DATA_HOME/threadkeeper`, without it `~/.local/share/threadkeeper`.
package enum StateDirectory {
  /// - Returns: an absolute path; nil when no rule gives one (no `HOME`).
  package static func path(given: String?, environment: [String: String], workingDirectory: String, isRoot: Bool)
    -> String?
  {
    func named(_ variable: String) -> String? { environment[variable].flatMap { $0.isEmpty ? nil : $0 } }
    let home = named("HOME")
    if let path = given ?? named("THREADKEEPER_STATE_DIRECTORY") {
      return FilePath.absolute(path, in: workingDirectory, home: home)
    }
    // systemd separates several by colons.
    if let path = named("STATE_DIRECTORY")?.split(separator: ":").first, path.hasPrefix("/") {
      return FilePath.absolute(String(path), in: "/", home: nil)
    }
    if isRoot { return SystemPlaces(environment: environment).stateDirectory }
    // The XDG base directory specification has relative paths ignored.
    if let path = named("XDG_DATA_HOME"), path.hasPrefix("/") {
      return FilePath.absolute(path + "/threadkeeper", in: "/", home: nil)
    }
    return FilePath.absolute("~/.local/share/threadkeeper", in: "/", home: home)
  }
}

/// Where a threadkeeper that serves the whole machine has its files.
///
/// `$THREADKEEPER_SYSTEM_ROOT` stands for `/` in all of them, as `--root` does in other tools: for
/// tests, and for images that are prepared. It gives nobody more than `$THREADKEEPER_STATE_DIRECTORY`
/// and `$THREADKEEPER_SOCKET` do: each process decides for itself where it looks.
package struct SystemPlaces: Sendable {
  package static let rootVariable = "THREADKEEPER_SYSTEM_ROOT"

  /// Without a slash at its end; empty for `/`.
  private let root: String

  /// - Parameter environment: a root that is not absolute is ignored.
  package init(environment: [String: String]) {
    let named = environment[Self.rootVariable] ?? ""
    let path = named.hasPrefix("/") ? FilePath.absolute(named, in: "/", home: nil) : nil
    root = path == "/" ? "" : path ?? ""
  }

  /// The state of a daemon that root or a service's user runs.
  package var stateDirectory: String { root + "/var/lib/threadkeeper" }
  /// Where that daemon listens for programs of other users, if its settings say so.
  package var clientSocket: String { root + "/run/threadkeeper/client.sock" }
  /// Where members of that daemon's group look.
  package var readersSocket: String { root + "/run/threadkeeper/readers.sock" }
  package var configuration: String { root + "/etc/threadkeeper/threadkeeper.yaml" }
  /// What the package puts there first.
  package var packagedConfiguration: String { root + "/usr/share/threadkeeper/threadkeeper.yaml" }
  /// Options, keys and passwords of the agents on this machine, and what they keep.
  package var agentDirectory: String { root + "/etc/threadkeeper-agent" }
  package var agentState: String { root + "/var/lib/threadkeeper-agent" }
  /// Where systemd has a link for each unit that it starts.
  package var enabledUnits: String { root + "/etc/systemd/system/multi-user.target.wants" }
  /// Whether this is the machine that runs, with its users.
  package var isRunning: Bool { root.isEmpty }
  package var hasSystemd: Bool { isRunning && access("/run/systemd/system", F_OK) == 0 }
  /// What that daemon's unit has besides, for a store that lies elsewhere.
  package var storeDropIn: String { root + "/etc/systemd/system/threadkeeper.service.d/store.conf" }
}

/// Paths as text: made absolute, compared without asking the file system; and a directory made to last.
package enum FilePath {
  /// - Parameters:
  ///   - path: absolute, relative to `directory`, or below the home directory (`~/…`).
  ///   - home: value of `HOME`.
  /// - Returns: an absolute path without `.` and doubled slashes; nil without an absolute `home`
  ///   for a path that needs one, and for `~name`.
  package static func absolute(_ path: String, in directory: String, home: String?) -> String? {
    var path = path
    if path == "~" || path.hasPrefix("~/") {
      guard let home, home.hasPrefix("/") else { return nil }
      path = home + path.dropFirst()
    } else if path.hasPrefix("~") {
      return nil
    } else if !path.hasPrefix("/") {
      path = directory + "/" + path
    }
    let parts = path.split(separator: "/").filter { $0 != "." }
    return "/" + parts.joined(separator: "/")
  }

  package static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Makes the names in a directory last. A file system that cannot do it keeps names in order anyway.
  package static func syncDirectory(_ path: String) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Whether the first is the second or lies below it. Both absolute; `..` is resolved by name.
  package static func isInside(_ path: String, _ directory: String) -> Bool {
    parts(path).starts(with: parts(directory))
  }

  private static func parts(_ path: String) -> [Substring] {
    var parts: [Substring] = []
    for part in path.split(separator: "/") {
      if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(part) }
    }
    return parts
  }
}

/// A file below `/proc`. The kernel gives a page of it at a time, which Foundation takes for all of it.
package enum KernelFile {
  /// - Returns: all of it, in which what is not UTF-8 is replacement characters; nil where it can't be read.
  package static func text(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var page = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &page, page.count)
      guard count >= 0 else { return nil }
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += page.prefix(count)
    }
  }
}
