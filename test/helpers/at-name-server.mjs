// Loaded into a service under test: its name server is the one at the address and port of the variable NAME_SERVER.
import { promises } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

promises.Resolver = class extends promises.Resolver {
  constructor(options) {
    super(options)
    this.setServers([process.env.NAME_SERVER])
  }
}
syncBuiltinESMExports()
