// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Thread credentials.
open class THClient: NSObject {}
