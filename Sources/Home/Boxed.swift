// SPDX-License-Identifier: Apache-2.0

/// A value that is large or mostly absent, and lies apart: what holds it is copied without it, and several may share it.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private var box: Box?

  package init() {}

  package init(wrappedValue: Value?) { box = wrappedValue.map { Box($0) } }

  package var wrappedValue: Value? {
    get { box?.value }
    set { box = newValue.map { Box($0) } }
  }
}

extension Boxed: Equatable where Value: Equatable {
  package static func == (a: Self, b: Self) -> Bool {
    a.box === b.box || a.box?.value == b.box?.value
  }
}

extension Boxed: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) { hasher.combine(box?.value) }
}
