import Foundation
import Synchronization
import Testing

/// Lets only a few tests run at a time: each of them has a broker, a daemon and a store, and all at
/// once they would mostly wait for each other. A `Recorder` hears what each of them has published.
///
/// At first all tests that need no turn are started together, and hold Swift's few threads for a minute or two.
/// Programs that a test has started would not wait for it so long, so a turn begins when a thread is to be had.
///
/// A test that is marked with `beginsFirst` does not wait for those that are not: it takes longest, and at the end nothing
/// would run beside it.
///
/// A test with arguments has one turn for all of them. `.ci/test` bounds how many tests run at a time, and a test that
/// waits here is none of them.
struct Turns: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  // A suite contains tests, which wait for themselves.
  func scopeProvider(for test: Test, testCase: Test.Case?) -> Turns? { test.isSuite ? nil : self }

  func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void)
    async throws
  {
    guard testCase != nil else {
      await Queue.shared.enter(first: test.traits.contains { $0 is BeginsFirst })
      defer { Queue.shared.leave() }
      return try await function()
    }
    try await Self.threadsToBeHad()
    Self.note(test)
    let recorder = Recorder()
    defer { recorder.end() }
    do { try await recorder.observe(function) } catch {
      await recorder.check()
      throw error
    }
    await recorder.check()
  }

  /// Notes when a test begins, for `.ci/slowest`.
  private static func note(_ test: Test) {
    guard let file = ProcessInfo.processInfo.environment["TEST_TURNS"], let output = fopen(file, "a") else { return }
    fputs("\(Date.now.timeIntervalSince1970) \(test.id)\n", output)
    fclose(output)
  }

  private static func threadsToBeHad() async throws {
    var pause = Duration.seconds(1)
    while pause > .milliseconds(100) {
      let before = ContinuousClock.now
      try await Task.sleep(for: .milliseconds(10))
      pause = ContinuousClock.now - before
    }
  }

  private final class Queue: Sendable {
    static let shared = Queue(places: 6)

    private struct State {
      var places: Int
      var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(places: Int) { state = Mutex(State(places: places)) }

    func enter(first: Bool) async {
      await withCheckedContinuation { continuation in
        let isFree = state.withLock { state in
          guard state.places > 0 else {
            state.waiting.insert(continuation, at: first ? 0 : state.waiting.endIndex)
            return false
          }
          state.places -= 1
          return true
        }
        if isFree { continuation.resume() }
      }
    }

    func leave() {
      let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
        state.places += 1
        return nil
      }
      next?.resume()
    }
  }
}

/// See `Turns`.
struct BeginsFirst: TestTrait {}

extension Trait where Self == BeginsFirst { static var beginsFirst: Self { BeginsFirst() } }

extension Trait where Self == Turns {
  /// See `Turns`.
  static var inTurns: Self { Turns() }
}
