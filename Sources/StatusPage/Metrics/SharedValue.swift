// SPDX-License-Identifier: Apache-2.0

/// One value for all who ask for it at about the same time: however many they are, it is made once.
actor SharedValue<Value: Sendable> {
  private let age: Duration
  private let make: @Sendable () async throws -> Value
  private var current: (made: ContinuousClock.Instant, task: Task<Value, any Error>)?

  /// - Parameter age: for which it is given out.
  init(for age: Duration, _ make: @escaping @Sendable () async throws -> Value) {
    self.age = age
    self.make = make
  }

  var value: Value {
    get async throws {
      if let current, current.made.duration(to: .now) < age { return try await current.task.value }
      let task = Task { [make] in try await make() }
      current = (.now, task)
      return try await task.value
    }
  }
}
