import Glibc
import Synchronization
import ThreadkeeperSupport

/// The connections of a server, and who has which place.
final class ServerConnections: Sendable {
  private struct State {
    var places: CallerPlaces
    var callers: [Int: VarlinkCaller] = [:]
    /// Connections of each user whose threads have not ended, those among them that have lost their place.
    var unfinished: [UInt32: Int] = [:]
    /// Open streams of each user.
    var streams: [UInt32: Int] = [:]
    var isEnding = false
  }

  let service: VarlinkService
  let limits: VarlinkLimits
  private let judge: @Sendable (SocketPeer) -> VarlinkVerdict
  /// Whether the kernel lets callers pass open files. To close a connection with some on their way may take long then.
  private let passesDescriptors: Bool
  private let state: Mutex<State>

  init(
    service: VarlinkService, limits: VarlinkLimits, judge: @escaping @Sendable (SocketPeer) -> VarlinkVerdict,
    passesDescriptors: Bool
  ) {
    self.service = service
    self.limits = limits
    self.judge = judge
    self.passesDescriptors = passesDescriptors
    state = Mutex(State(places: CallerPlaces(total: limits.places, perUser: limits.placesPerUser)))
  }

  var isEmpty: Bool { state.withLock { $0.callers.isEmpty } }

  /// Takes a new connection over. Does not wait for it.
  func take(_ socket: Int32) {
    guard let peer = SocketPeer(socket) else { return refuse(socket, nil) }
    switch judge(peer) {
    case .refused(let error): refuse(socket, error)
    case .admitted(let access):
      guard let caller = try? VarlinkCaller(socket, peer: peer, access: access, limits: limits),
        let place = admit(caller)
      else { return refuse(socket, limits.noPlace) }
      let connection = ServerConnection(socket: socket, caller: caller, place: place, owner: self)
      SystemThread.run { [self] in
        connection.run()
        end(caller, at: place)
      }
    }
  }

  /// Ends those that are silent now, and the others when what has come is answered.
  func endAll() {
    let callers = state.withLock {
      $0.isEnding = true
      return Array($0.callers.values)
    }
    for caller in callers { caller.finish() }
  }

  /// A whole call has come.
  ///
  /// - Returns: false when the place was taken away before.
  func beginCall(at place: Int) -> Bool { state.withLock { $0.places.endSilence(at: place) } }

  func endCall(at place: Int) { state.withLock { $0.places.beginSilence(at: place) } }

  /// - Returns: false when the user has as many as it may have.
  func beginStream(of user: UInt32) -> Bool {
    state.withLock {
      guard $0.streams[user, default: 0] < limits.streamsPerUser else { return false }
      $0.streams[user, default: 0] += 1
      return true
    }
  }

  func endStream(of user: UInt32) {
    state.withLock {
      let left = $0.streams[user, default: 1] - 1
      $0.streams[user] = left == 0 ? nil : left
    }
  }

  /// - Returns: its place.
  private func admit(_ caller: VarlinkCaller) -> Int? {
    let user = caller.peer.user
    return state.withLock { state in
      // Who loses places faster than they become free has had more than the share.
      guard state.unfinished[user, default: 0] < 2 * limits.placesPerUser,
        case .admitted(let place, let evicted) = state.places.admit(user)
      else { return nil }
      if let evicted { state.callers[evicted]?.evict() }
      state.callers[place] = caller
      state.unfinished[user, default: 0] += 1
      if state.isEnding { caller.finish() }
      return place
    }
  }

  private func end(_ caller: VarlinkCaller, at place: Int) {
    let user = caller.peer.user
    state.withLock {
      $0.places.free(place)
      $0.callers[place] = nil
      let left = $0.unfinished[user, default: 1] - 1
      $0.unfinished[user] = left == 0 ? nil : left
    }
  }

  private func refuse(_ socket: Int32, _ error: VarlinkError?) {
    reject(socket, error)
    // Where it may take long not here, where all the others wait.
    guard passesDescriptors else { return close(socket) }
    SystemThread.run { [self] in close(socket) }
  }

  /// Answers who waits for no reply.
  func reject(_ socket: Int32, _ error: VarlinkError?) {
    guard let error else { return }
    // It fits what the system keeps for a connection.
    let reply = error.encoded() + [0]
    _ = send(socket, reply, reply.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
  }

  /// Closes a connection, with whatever is on its way there. See `PromptClose`.
  func close(_ socket: Int32) { if passesDescriptors { PromptClose.close([socket]) } else { Glibc.close(socket) } }
}
