// SPDX-License-Identifier: Apache-2.0

extension THClient {
  func start<R: Sendable>(
    _ completion: @escaping @Sendable (R?, (any Error)?) -> Void,
    _ call: @escaping @Sendable (DaemonLink) async throws -> R
  ) {
    run(call) { result in
      switch result {
      case .success(let value): completion(value, nil)
      case .failure(let error): completion(nil, error)
      }
    }
  }

  func start(
    _ completion: @escaping @Sendable ((any Error)?) -> Void,
    _ call: @escaping @Sendable (DaemonLink) async throws -> Void
  ) {
    run(call) { result in
      switch result {
      case .success: completion(nil)
      case .failure(let error): completion(error)
      }
    }
  }

  /// What can't be answered is false.
  func start(
    _ completion: @escaping @Sendable (Bool) -> Void,
    _ call: @escaping @Sendable (DaemonLink) async throws -> Bool
  ) {
    run(call) { completion((try? $0.get()) ?? false) }
  }

  private func run<R: Sendable>(
    _ call: @escaping @Sendable (DaemonLink) async throws -> R,
    then end: @escaping @Sendable (Result<R, any Error>) -> Void
  ) {
    let task = Task {
      let result: Result<R, any Error>
      do {
        result = .success(try await call(daemon))
      } catch {
        result = .failure(error)
      }
      // A handler may block, which a thread of Swift's must not. The client lives until it returns.
      SystemThread.run {
        end(result)
        withExtendedLifetime(self) {}
      }
    }
    PendingCall.current?.began(task)
  }
}
