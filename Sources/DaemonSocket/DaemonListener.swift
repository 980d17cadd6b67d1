// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// The daemon's end: a socket in its store's directory, where commands bring what only the process
/// with the store's lock can do; or one elsewhere, for programs of other users.
///
/// It serves whom it admits, by what the kernel says of them: this user and root unless said. One
/// request and one answer for each connection.
package final class DaemonListener: Sendable {
  /// Gets a request, and the connection to see whether somebody still waits; returns the answer.
  package typealias Handler = @Sendable ([UInt8], DaemonConnection) async -> [UInt8]

  /// Microseconds in which no caller is taken after the system could not give one.
  private static let pause: UInt32 = 500_000

  private let path: String
  private let admission: Admission
  private let patience: Duration
  private let handler: Handler
  private let queue = DispatchQueue(label: "threadkeeper.socket")
  private let source = Mutex<(any DispatchSourceRead)?>(nil)
  private let callers: Mutex<Callers>
  private let farewells = UserLanes()
  private let onTrouble: @Sendable (DaemonSocketError) -> Void

  private struct Callers {
    var places: CallerPlaces
    /// Until they are closed, those that have lost their place too.
    var connections: [Int: DaemonConnection] = [:]
    var tasks: [Int: Task<Void, Never>] = [:]
    var isEnding = false
  }

  /// Listens from now on. What an earlier process left under that name is removed: of a socket for
  /// this user only, the caller must know, by a lock, that it is no other's.
  ///
  /// - Parameters:
  ///   - patience: seconds that a caller may take to send its request and to take its answer, both
  ///     together.
  ///   - onTrouble: told when callers cannot be taken for a moment.
  /// - Throws: `taken` when a socket for others would be in the way of somebody else's.
  package init(
    path: String, admission: Admission = .owner, patience: Int = 10,
    onTrouble: @escaping @Sendable (DaemonSocketError) -> Void = { _ in },
    handler: @escaping Handler
  ) throws(DaemonSocketError) {
    self.path = path
    self.admission = admission
    callers = Mutex(
      Callers(places: CallerPlaces(total: admission.places, perUser: admission.placesPerUser)))
    self.patience = .seconds(patience)
    self.onTrouble = onTrouble
    self.handler = handler
    let descriptor = try ListeningSocket.make(path, admission.reach)
    source.withLock {
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler { [weak self] in self?.accept(descriptor) }
      source.setCancelHandler { close(descriptor) }
      source.resume()
      $0 = source
    }
  }

  deinit { stop() }

  /// Takes no more calls, and returns when those that came are answered; after `limit` all the same.
  /// Their tasks are cancelled, so that none waits for somebody else meanwhile. Who has not said all by now
  /// is not heard.
  package func finish(within limit: Duration = .seconds(10)) async {
    stop()
    let (reading, tasks) = callers.withLock {
      let places = $0.places
      $0.isEnding = true
      return ($0.connections.filter { places.isSilent($0.key) }.values, $0.tasks.values)
    }
    for connection in reading { connection.endReading() }
    for task in tasks { task.cancel() }
    let deadline = ContinuousClock.now + limit
    while callers.withLock({ !$0.connections.isEmpty }), ContinuousClock.now < deadline {
      do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
    }
  }

  /// Takes no more calls.
  package func stop() {
    source.withLock {
      guard let source = $0 else { return }
      unlink(path)
      source.cancel()
      $0 = nil
    }
  }

  private func accept(_ listener: Int32) {
    let descriptor = Glibc.accept(listener, nil, nil)
    guard descriptor >= 0 else { return acceptFailed(errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    guard
      let connection = try? DaemonConnection(
        descriptor, takesDescriptors: admission.takesDescriptors)
    else { return }
    switch admission.judge(connection.peer.user) {
    case .refused(let answer): refuse(connection, saying: answer)
    case .admitted:
      guard let place = takePlace(for: connection) else {
        return refuse(connection, saying: admission.noPlace)
      }
      // A thread of the system's: whoever calls and says nothing must not hold one of Swift's.
      OwnThread.start { [self] in serve(connection, at: place) }
    }
  }

  private func refuse(_ connection: DaemonConnection, saying answer: [UInt8]) {
    // It fits what the system keeps for a new connection, so this does not wait.
    if !answer.isEmpty { try? connection.send(answer, by: .now) }
    // Not here, where all the others wait: with open files on their way, the end may take long.
    farewells.run(for: connection.peer.user) { connection.close() }
  }

  private func serve(_ connection: DaemonConnection, at place: Int) {
    let start = ContinuousClock.now
    do throws(DaemonSocketError) {
      let request = try connection.receiveOnly(by: start + patience)
      try answer(request, connection, at: place, within: patience - start.duration(to: .now))
    } catch {
      let isFormless = error.reason == .malformed || error.reason == .tooLarge
      let isEvicted = callers.withLock { !$0.places.endSilence(at: place) }
      let words =
        isEvicted ? admission.noPlace : isFormless ? admission.complaint(error) : []
      if !words.isEmpty { try? connection.send(words, by: .now) }
      end(connection, at: place)
    }
  }

  /// - Parameter patience: what is left of it for the answer.
  /// - Throws: `closed` when the place was taken away before the request had come.
  private func answer(
    _ request: [UInt8], _ connection: DaemonConnection, at place: Int, within patience: Duration
  ) throws(DaemonSocketError) {
    let isHere = callers.withLock {
      guard $0.places.endSilence(at: place) else { return false }
      let task = Task {
        let answer = await handler(request, connection)
        OwnThread.start { [self] in
          // Who has gone meanwhile has no use for it.
          try? connection.send(answer, by: .now + patience)
          end(connection, at: place)
        }
      }
      $0.tasks[place] = task
      if $0.isEnding { task.cancel() }
      return true
    }
    guard isHere else { throw .closed }
  }

  /// Closes it while it still has its place: who makes that slow is the one who waits. What has lost its place is closed
  /// as what never had one.
  private func end(_ connection: DaemonConnection, at place: Int) {
    let close = { @Sendable [self] in
      connection.close()
      free(place)
    }
    if callers.withLock({ $0.places.holds(place) }) {
      close()
    } else {
      farewells.run(for: connection.peer.user, close)
    }
  }

  /// Without a pause the same call would be reported again at once, for as long as the trouble lasts.
  private func acceptFailed(_ code: Int32) {
    guard ![EAGAIN, EINTR, ECONNABORTED].contains(code) else { return }
    onTrouble(.system("accept", path, code))
    // The queue has nothing else to do.
    usleep(Self.pause)
  }

  /// - Returns: nil when there is none for it.
  private func takePlace(for connection: DaemonConnection) -> Int? {
    callers.withLock {
      guard case .admitted(let place, let evicted) = $0.places.admit(connection.peer.user) else {
        return nil
      }
      if let evicted { Self.evict(evicted, from: &$0) }
      $0.connections[place] = connection
      if $0.isEnding { connection.endReading() }
      return place
    }
  }

  /// Its own thread closes it.
  private static func evict(_ place: Int, from callers: inout Callers) {
    guard let task = callers.tasks[place] else {
      // It may be answered that there is no place.
      callers.connections[place]?.endReading()
      return
    }
    callers.connections[place]?.abort()
    task.cancel()
  }

  private func free(_ place: Int) {
    callers.withLock {
      $0.places.free(place)
      $0.connections[place] = nil
      $0.tasks[place] = nil
    }
  }
}
