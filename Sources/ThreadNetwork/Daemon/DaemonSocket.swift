import Glibc

@_implementationOnly import LocalAPI

/// The socket of a daemon, with a connection for each call. See docs/reference/local-api.md.
struct DaemonSocket: Sendable {
  /// A daemon does what it is asked for within some milliseconds, but for its disk.
  private static let timeout = Duration.seconds(60)
  /// A person has two minutes, and the daemon answers when they are over.
  private static let personsTimeout = Duration.seconds(125)

  let path: String
  /// Whether a daemon of another user is meant, too.
  var admitsOthers = false
  /// Whether the person at this program's terminal may be told of a question that waits.
  var usesTerminal = false

  /// - Returns: nil when nobody listens there.
  /// - Throws: `THError`, among them what the daemon answers; `CancellationError`.
  func ask(_ request: ThreadRequest) async throws -> AnswerData? {
    guard usesTerminal, TerminalConsent.isPossible else { return try await exchange(request) }
    if request.command == .shareCredentials, try await showCode(request) { return AnswerData() }
    guard request.command.needsConsent else { return try await exchange(request) }
    let person = Task { await ConsentAtTerminal(daemon: self, request: request).run() }
    let answer: AnswerData?
    do { answer = try await exchange(request) } catch {
      await Self.end(person)
      throw error
    }
    await Self.end(person)
    return answer
  }

  /// Returns when the terminal is as it was before.
  private static func end(_ person: Task<Void, Never>) async {
    person.cancel()
    await person.value
  }

  /// - Parameter asAdministrator: whether the daemon's own user, or root, speaks as such.
  /// - Returns: nil when nobody listens there.
  /// - Throws: `THError`, `CancellationError`.
  func exchange(_ request: ThreadRequest, asAdministrator: Bool? = nil) async throws -> AnswerData? {
    guard let method = RequestMethods.method(request.command) else { throw DaemonLink.unreadable }
    let timeout = request.command.needsConsent ? Self.personsTimeout : Self.timeout
    let deadline = ContinuousClock.now + timeout
    do {
      let client = try await VarlinkClient.connect(to: path, within: timeout, admittingOthers: admitsOthers)
      guard let client else { return nil }
      try Task.checkCancellation()
      var fields = request.fields(on: .socket)
      fields.asAdministrator = asAdministrator
      return try await client.call(method, fields, within: deadline - .now)
    } catch let error as SocketError {
      if error.reason == .abandoned { throw CancellationError() }
      throw THError(error, at: path)
    } catch let error as VarlinkError {
      guard let failure = AnswerFailure(error) else { throw DaemonLink.unreadable }
      throw THError(failure, to: request.command)
    }
  }
}

/// The daemon that serves all users of this machine: where its files are, whether it runs or not.
struct MachineDaemon: Sendable, Equatable {
  /// Its state directory. Others cannot look into it, and can see that it is there.
  var directory: String
  /// Where it listens for programs of other users.
  var socket: String

  var isInstalled: Bool { Self.exists(directory) || Self.exists(socket) }

  /// Whether its store is also the own store of this process's user, as it is for root where root
  /// runs the daemon.
  func isOwn(_ store: OwnStore) -> Bool {
    FilePath.isInside(store.directory, directory) && Self.owner(of: directory) == geteuid()
  }

  /// Also where it cannot be looked at, as behind a link into a directory of root's only
  /// (`DynamicUser=` of systemd).
  private static func exists(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 || ![ENOENT, ENOTDIR].contains(errno)
  }

  /// - Returns: nil when there is nothing at `path`, or nothing that can be looked at.
  private static func owner(of path: String) -> uid_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_uid : nil
  }

  /// That it does not run now.
  var absence: THError {
    THError(
      .notNow, "the threadkeeper of this machine does not listen on \(socket)",
      help: "start it (`systemctl start threadkeeper`) with `clients.socket: \(socket)` in its "
        + "settings, or set THREADKEEPER_STORE_PATH for a store of this program's own", isTemporary: true)
  }
}
