// SPDX-License-Identifier: Apache-2.0

enum JSONUTF8 {
  static func flaw(in bytes: UnsafeBufferPointer<UInt8>) -> JSONFlaw? {
    guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while case .valid(let scalar) = parser.parseScalar(from: &iterator) { offset += scalar.count }
    return JSONFlaw(reason: .notUTF8, offset: offset)
  }
}
