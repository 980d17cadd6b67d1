import Glibc

/// How a child process is started: with its three streams, the environment that it is given, and nothing else of ours.
/// No signal is blocked or ignored in it.
package struct ProcessStart: Sendable {
  /// What the child has as one of its streams.
  package enum Stream: Sendable {
    case nothing
    /// Read from its beginning; or emptied, and written at its end.
    case file(String)
    /// Stays open here.
    case descriptor(Int32)
    /// For the error stream.
    case sameAsOutput
    /// The same as ours.
    case inherited
  }

  /// A path; or, with `searchesPath`, a name that is looked up in PATH.
  package var program: String
  package var arguments: [String]
  /// As `NAME=value`.
  package var environment: [String]
  var searchesPath = false
  package var input = Stream.nothing
  package var output = Stream.nothing
  package var error = Stream.nothing
  /// In a process group of its own no Ctrl-C of a terminal reaches it, and all that it starts can be ended with it.
  package var hasOwnGroup = true

  package init(program: String, arguments: [String] = [], environment: [String]) {
    self.program = program
    self.arguments = arguments
    self.environment = environment
  }

  /// - Returns: the number of the process; 0 with the result of posix_spawn(3) when it was not started.
  package func start() -> (identifier: pid_t, error: Int32) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    input.add(to: &actions, as: STDIN_FILENO)
    output.add(to: &actions, as: STDOUT_FILENO)
    error.add(to: &actions, as: STDERR_FILENO)
    // A socket that the child held open as well would never be closed for the other side.
    InheritedDescriptors.close(in: &actions)
    var attributes = Self.attributes(hasOwnGroup: hasOwnGroup)
    defer { posix_spawnattr_destroy(&attributes) }
    var identifier: pid_t = 0
    let code = Self.withCStrings([program] + arguments) { arguments in
      Self.withCStrings(environment) { environment in
        searchesPath
          ? posix_spawnp(&identifier, program, &actions, &attributes, arguments, environment)
          : posix_spawn(&identifier, program, &actions, &attributes, arguments, environment)
      }
    }
    return (code == 0 ? identifier : 0, code)
  }

  private static func attributes(hasOwnGroup: Bool) -> posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0)))
    return attributes
  }

  private static func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
    let copies: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return body(copies)
  }
}

extension ProcessStart.Stream {
  fileprivate func add(to actions: inout posix_spawn_file_actions_t, as number: Int32) {
    let mode = number == STDIN_FILENO ? O_RDONLY : O_WRONLY
    switch self {
    case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", mode, 0)
    case .file(let path):
      let creation = number == STDIN_FILENO ? 0 : O_CREAT | O_TRUNC | O_APPEND
      posix_spawn_file_actions_addopen(&actions, number, path, mode | creation, 0o600)
    case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    case .sameAsOutput: posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, number)
    case .inherited: break
    }
  }
}

/// What a child process would have open by accident.
enum InheritedDescriptors {
  /// Descriptors that other threads may open between the look and the child's start. New ones get the lowest free
  /// numbers.
  private static let spare: Int32 = 256

  /// Has the child close all but its three streams. To be called after all that is to be duplicated has been: a number
  /// that is not open is no error to glibc.
  static func close(in actions: inout posix_spawn_file_actions_t) {
    let highest = DirectoryNames.list("/proc/self/fd").compactMap(Int32.init).max() ?? 1024
    for descriptor in 3...highest + spare { posix_spawn_file_actions_addclose(&actions, descriptor) }
  }
}

/// What is in a directory, without Foundation.
package enum DirectoryNames {
  /// The names in it but `.` and `..`; none when it can't be read.
  package static func list(_ path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
