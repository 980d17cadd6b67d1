// SPDX-License-Identifier: Apache-2.0

/// Stands for a way to allocate memory. Linux has one, so there is nothing to choose: give nil.
public final class CFAllocator: Sendable {
  init() {}
}

/// The usual way to allocate memory.
public let kCFAllocatorDefault: CFAllocator! = nil
