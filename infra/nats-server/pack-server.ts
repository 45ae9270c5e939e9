import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { natsRelease } from '../embedded/src/nats-release.ts';
import { npmPack, run } from '../pack/npm-pack.ts';

/** The systems and processors that have a PostgreSQL package, as Node names them. */
export const platforms: readonly string[] = Object.keys(natsRelease.wheelSums);

/** Processors, as Go names them. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const { module, version } = natsRelease;

/**
 * Builds nats-server for a platform and packs it for npm. Returns the tarball's path in `target`. Go checks the sources
 * by the sums in go.sum, and the same sources give the same bytes.
 */
export function packServer(platform: string, target: string): string {
  const stage = mkdtempSync(join(tmpdir(), 'recordbus-nats-'));
  try {
    build(platform, join(stage, 'bin/nats-server'));
    for (const [file, text] of Object.entries(filesOf(platform))) writeFileSync(join(stage, file), text);
    cpSync(join(go(['list', '-m', '-f', '{{.Dir}}', module]), 'LICENSE'), join(stage, 'LICENSE'));
    return npmPack(stage, target);
  } finally {
    rmSync(stage, { recursive: true });
  }
}

function build(platform: string, binary: string): void {
  const [system = '', processor = ''] = platform.split('-');
  mkdirSync(join(binary, '..'));
  const environment = { CGO_ENABLED: '0', GOOS: system, GOARCH: architectures[processor] ?? '' };
  go(['build', '-trimpath', '-buildvcs=false', '-ldflags=-s -w -buildid=', '-o', binary, module], environment);
}

function filesOf(platform: string): Readonly<Record<string, string>> {
  const [os, cpu] = platform.split('-');
  const name = `@recordbus/nats-server-${platform}`;
  const manifest = {
    name,
    version,
    description: `nats-server ${version} for ${platform}`,
    license: 'Apache-2.0',
    os: [os],
    cpu: [cpu],
    main: 'index.js',
    types: 'index.d.ts',
    files: ['bin', 'index.js', 'index.d.ts'],
  };
  return {
    'package.json': `${JSON.stringify(manifest, undefined, 2)}\n`,
    'index.js': `'use strict';\nexports.getBinaryPath = () => require('node:path').join(__dirname, 'bin', 'nats-server');\n`,
    'index.d.ts': `/** Returns the path to the program. */\nexport function getBinaryPath(): string;\n`,
    'README.md': `# ${name}\n\n[nats-server](https://github.com/nats-io/nats-server) ${version} for ${platform}, built without changes from its Go module.\n`,
  };
}

const go = (args: readonly string[], environment: NodeJS.ProcessEnv = {}): string =>
  run('go', args, import.meta.dirname, { GOFLAGS: '-mod=readonly', ...environment }).trim();
