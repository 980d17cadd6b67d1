/// A large value that lies apart: what holds it is copied without it, and several may share it.
@propertyWrapper package struct Apart<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private var box: Box

  package init(wrappedValue: Value) { box = Box(wrappedValue) }

  package var wrappedValue: Value {
    get { box.value }
    set { box = Box(newValue) }
  }
}

extension Apart: Equatable where Value: Equatable {
  package static func == (a: Self, b: Self) -> Bool { a.box === b.box || a.box.value == b.box.value }
}

extension Apart: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) { hasher.combine(box.value) }
}

/// The same for a value that is mostly absent.
@propertyWrapper package struct Boxed<Value: Sendable>: Sendable {
  private var box: Apart<Value>?

  package init() {}

  package init(wrappedValue: Value?) { box = wrappedValue.map { Apart(wrappedValue: $0) } }

  package var wrappedValue: Value? {
    get { box?.wrappedValue }
    set { box = newValue.map { Apart(wrappedValue: $0) } }
  }
}

extension Boxed: Equatable where Value: Equatable {}

extension Boxed: Hashable where Value: Hashable {}
