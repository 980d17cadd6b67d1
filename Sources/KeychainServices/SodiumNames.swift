// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto

/// The secret of an item, under a name for callers that do not see the library below.
package typealias ItemSecret = SecretBytes

/// The system's random source, likewise.
package typealias SystemRandom = RandomBytes

/// A value that one thread at a time may touch, likewise.
package typealias Guarded<Value> = Locked<Value>
