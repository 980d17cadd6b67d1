// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@Suite("Mosquitto's configuration")
struct MosquittoOptionsTests {
  @Test("Files, logins and queues are found over several files")
  func files() {
    var options = MosquittoOptions()
    options.read(
      """
      # acl_file /not/this
      pid_file /run/mosquitto.pid
      include_dir /etc/mosquitto/conf.d
      """)
    #expect(options.allowsAnonymous && options.accessList == nil && !options.limitsMessages)
    #expect(options.listens(on: 1883) && !options.listens(on: 1884))
    #expect(options.includes == ["/etc/mosquitto/conf.d"])
    options.read(
      "listener 1885 127.0.0.1\nlistener 8883\n password_file  /etc/mosquitto/pass words \nacl_file\t/etc/mosquitto/own.acl\r\n"
        + "persistence true\nmax_queued_messages 5\nmessage_size_limit 65536\n")
    #expect(!options.allowsAnonymous && options.isPersistent && options.queueLimit == 5)
    #expect(options.limitsMessages)
    #expect(options.listens(on: 8883) && options.listens(on: 1885) && !options.listens(on: 1883))
    #expect(options.passwordFile == "/etc/mosquitto/pass words")
    #expect(options.accessList == "/etc/mosquitto/own.acl")
    options.read("allow_anonymous true\nper_listener_settings false\n")
    #expect(options.allowsAnonymous && !options.isPartial)
    for line in ["per_listener_settings true\n", "plugin /usr/lib/x.so\n"] {
      var partial = options
      partial.read(line)
      #expect(partial.isPartial)
    }
  }

  @Test("A password file has a name before each colon")
  func logins() {
    #expect(
      MosquittoOptions.logins(inPasswordFile: "anna:$7$x\n# no\n\nbob:$7$y:z\n:x\nodd")
        == ["anna", "bob"])
  }
}
