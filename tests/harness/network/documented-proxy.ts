import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, Hopeless } from '../eventually.ts';
import { type Child, endChild, startChild } from '../processes/child.ts';
import { findFreePort } from '../processes/free-port.ts';

/** A proxy in front of a gateway, with a configuration from docs/gateway.md. */
export interface DocumentedProxy extends AsyncDisposable {
  /** Without TLS, for the tests' clients. */
  readonly url: string;
  readonly tlsUrl: string;
  /** The certificate for `tlsUrl`. */
  readonly certificate: Buffer;
}

export type ProxyName = 'nginx' | 'caddy';

interface Program {
  /** The language of its block on the page. */
  readonly language: string;
  readonly command: string;
  /** Returns the files and the arguments that run the documented configuration on free ports. */
  prepare(
    documented: string,
    place: Place,
  ): { readonly files: Readonly<Record<string, string>>; readonly args: string[] };
}

interface Place {
  readonly directory: string;
  readonly gateway: string;
  readonly port: number;
  readonly tlsPort: number;
}

const programs: Readonly<Record<ProxyName, Program>> = {
  nginx: {
    language: 'nginx',
    command: 'nginx',
    prepare(documented, { directory, gateway, port, tlsPort }) {
      const site = replaced(documented, [
        ['server 127.0.0.1:8080;', `server ${gateway};`],
        [/server \{\n {2}listen 80;[^}]*\}\n/, ''],
        ['listen 443 ssl http2;', `listen 127.0.0.1:${port};\n  listen 127.0.0.1:${tlsPort} ssl http2;`],
        ['server_name api.example.com;', 'server_name localhost;'],
        ['/etc/ssl/certs/api.example.com.pem', join(directory, 'certificate.pem')],
        ['/etc/ssl/private/api.example.com.key', join(directory, 'key.pem')],
      ]);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${directory}/temporary;`,
      );
      const user = process.getuid?.() === 0 ? 'user root;\n' : '';
      const whole = `${user}pid ${directory}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${paths.join('\n')}\n${site}\n}\n`;
      return {
        files: { 'nginx.conf': whole },
        args: ['-p', directory, '-e', 'stderr', '-c', join(directory, 'nginx.conf'), '-g', 'daemon off;'],
      };
    },
  },
  caddy: {
    language: 'caddyfile',
    command: 'caddy',
    prepare(documented, { directory, gateway, port, tlsPort }) {
      const site = (address: string, more: string) =>
        replaced(documented, [
          ['api.example.com {', `${address} {\n  bind 127.0.0.1\n${more}`],
          ['127.0.0.1:8080', gateway],
        ]);
      const tls = `  tls ${join(directory, 'certificate.pem')} ${join(directory, 'key.pem')}\n`;
      const own = '{\n  admin off\n  auto_https off\n}\n';
      return {
        files: { Caddyfile: `${own}${site(`http://:${port}`, '')}\n${site(`https://localhost:${tlsPort}`, tls)}\n` },
        args: ['run', '--adapter', 'caddyfile', '--config', join(directory, 'Caddyfile')],
      };
    },
  },
};

/** Returns the reason to skip a proxy's tests; false if it can be run. */
export function missingProxy(name: ProxyName): string | false {
  for (const [command, argument] of [
    [programs[name].command, name === 'nginx' ? '-v' : 'version'],
    ['openssl', 'version'],
  ] as const) {
    try {
      execFileSync(command, [argument], { stdio: 'ignore' });
    } catch {
      return `needs ${command} on PATH (Debian: apt-get install ${command})`;
    }
  }
  return false;
}

/** Starts the proxy with its configuration from docs/gateway.md, in front of a URL's gateway. */
export async function startDocumentedProxy(name: ProxyName, gatewayUrl: string): Promise<DocumentedProxy> {
  const { language, command, prepare } = programs[name];
  const directory = mkdtempSync(join(tmpdir(), `recordbus-test-${name}-`));
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, 'temporary'));
  const certificate = createCertificate(directory);
  const [port, tlsPort] = [await findFreePort(), await findFreePort()];
  const place = { directory, gateway: new URL(gatewayUrl).host, port, tlsPort };
  const { files, args } = prepare(documentedBlock(language), place);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text);
  const child = startChild(command, args, { cwd: directory, env: { ...process.env, HOME: directory } });
  await eventually(`${name} listens`, () => isListening(child, port));
  return {
    url: `http://127.0.0.1:${port}`,
    tlsUrl: `https://localhost:${tlsPort}`,
    certificate,
    async [Symbol.asyncDispose]() {
      await endChild(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function documentedBlock(language: string): string {
  const page = readFileSync(new URL('../../../docs/gateway.md', import.meta.url), 'utf8');
  const [, block] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(page) ?? [];
  if (block === undefined) throw new Error(`docs/gateway.md has no block in ${language}`);
  return block;
}

/** Throws for a place that the documented text lacks, since the test would run another configuration. */
function replaced(text: string, replacements: readonly (readonly [place: string | RegExp, by: string])[]): string {
  return replacements.reduce((current, [place, by]) => {
    const next = current.replace(place, () => by);
    if (next === current) throw new Error(`docs/gateway.md lacks ${place}`);
    return next;
  }, text);
}

function createCertificate(directory: string): Buffer {
  const file = (name: string) => join(directory, name);
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file('key.pem')];
  const request = ['req', '-x509', '-days', '2', ...subject, ...key, '-out', file('certificate.pem')];
  execFileSync('openssl', request, { stdio: 'ignore' });
  return readFileSync(file('certificate.pem'));
}

async function isListening(child: Child, port: number): Promise<true> {
  if (!child.isRunning) throw new Hopeless(child.lines.join('\n'));
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', reject);
  });
}
