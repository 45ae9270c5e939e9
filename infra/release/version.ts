import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where a version is, in the file that has it: `$1` and `$2` stay. */
interface Place {
  readonly file: string;
  readonly pattern: RegExp;
}

const templates = [
  'README.md',
  'coolify/recordbus.yaml',
  'dokploy/docker-compose.yml',
  'fly/Dockerfile',
  'railway/Dockerfile',
];
const manifest = /^( {2}"version": ")([^"]+)(")/m;
const places: readonly Place[] = [
  { file: 'package.json', pattern: manifest },
  // The services read theirs at runtime.
  { file: 'libs/process/package.json', pattern: manifest },
  { file: 'infra/helm/recordbus/Chart.yaml', pattern: /^(version: )(\S+)()$/m },
  { file: 'infra/helm/recordbus/Chart.yaml', pattern: /^(appVersion: )(\S+)()$/m },
  { file: 'package-lock.json', pattern: manifest },
  { file: 'package-lock.json', pattern: /("": \{\n {6}"name": "recordbus",\n {6}"version": ")([^"]+)(")/ },
  { file: 'package-lock.json', pattern: /("name": "@recordbus\/process",\n {6}"version": ")([^"]+)(")/ },
  ...templates.map((file) => ({
    file: `infra/templates/${file}`,
    pattern: /(ghcr\.io\/recordbus\/recordbus:)([\w.-]+)()/,
  })),
];

/** https://semver.org, without build metadata: npm and image tags have none. */
const semantic = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;

/**
 * Returns the repository's version. Throws when it is not a semantic version, when two places differ, or when another
 * package has a version.
 */
export function readVersion(root: string): string {
  const found = places.map(({ file, pattern }) => {
    const version = pattern.exec(readFileSync(join(root, file), 'utf8'))?.[2];
    if (version === undefined) throw new Error(`${file} has no version.`);
    return { file, version };
  });
  const version = found[0]?.version ?? '';
  for (const other of found)
    if (other.version !== version) throw new Error(`${other.file} has ${other.version}, and package.json ${version}.`);
  if (!semantic.test(version)) throw new Error(`${version} is not a semantic version.`);
  for (const file of globSync('{libs,services,infra,tests,examples}/**/package.json', {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|pack)$/.test(path),
  })) {
    const { version: own }: { readonly version?: string } = JSON.parse(readFileSync(join(root, file), 'utf8'));
    if (own !== undefined && !places.some((place) => place.file === file))
      throw new Error(`${file} has a version. Remove it: the product has one version, in package.json.`);
  }
  return version;
}

/** Writes a version in each place that has one. Throws when it is not a semantic version. */
export function writeVersion(root: string, version: string): void {
  if (!semantic.test(version)) throw new Error(`${version} is not a semantic version.`);
  for (const { file, pattern } of places) {
    const path = join(root, file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(pattern, `$1${version}$3`));
  }
}

/** A version's minor version: `0.2` for `0.2.1`. */
export const minorOf = (version: string): string => version.split('.').slice(0, 2).join('.');
