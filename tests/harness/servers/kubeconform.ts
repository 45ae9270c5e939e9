import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** kubeconform on PATH, or in the `go install` directory. */
const program = ['kubeconform', join(homedir(), 'go/bin/kubeconform')].find(
  (path) => spawnSync(path, ['-v']).status === 0,
);

/** The schemas for every Kubernetes version, in Python's package `kubernetes-validate`. */
const schemas = spawnSync('python3', ['-c', 'import kubernetes_validate as k; print(k.__path__[0])'], {
  encoding: 'utf8',
}).stdout?.trim();

/** Says why kubeconform cannot be used; false if it can. */
export const missingKubeconform: string | false =
  program !== undefined && schemas ? false : "needs kubeconform on PATH, and Python's package kubernetes-validate";

/** Checks manifests strictly against a version's schemas. Returns the report. */
export function kubeconform(manifests: string, version: string, skipped: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-schemas-'));
  try {
    const kinds = new Set([...manifests.matchAll(/^kind: (\w+)$/gm)].map(([, kind = '']) => kind.toLowerCase()));
    writeSchemas(join(schemas ?? '', `kubernetes-json-schema/v${version}-local-strict`), directory, kinds);
    const place = join(directory, '{{.ResourceKind}}{{.KindSuffix}}.json');
    const flags = ['-strict', '-summary', '-schema-location', place, '-skip', skipped.join(',')];
    const { status, stdout } = spawnSync(program ?? '', [...flags, '-'], { input: manifests, encoding: 'utf8' });
    return { status, report: stdout };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Writes schemas by kind, each with the definitions that it refers to, because kubeconform reads no second file. */
function writeSchemas(from: string, to: string, kinds: ReadonlySet<string>): void {
  const read = (name: string) =>
    JSON.parse(readFileSync(join(from, name), 'utf8').replaceAll(/"[^"#]*_definitions\.json#/g, '"#'));
  const definitions = read('_definitions.json');
  for (const name of readdirSync(from)) {
    if (!kinds.has(name.split('-')[0] ?? '')) continue;
    const { $id: _, ...schema } = read(name);
    writeFileSync(join(to, name), JSON.stringify({ ...definitions, ...schema }));
  }
}
