import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FolderImport, findFolderImports, findWrongImports } from './folder-imports.ts';
import { folderOrder } from './folder-order.ts';
import { findSources } from './sources.ts';

test('every service has an order for its folders', () => {
  const services = findSources('services/*/src/main.ts').map((file) => file.replace('/src/main.ts', ''));
  assert.deepEqual(
    services.filter((service) => !(service in folderOrder)),
    [],
  );
});

for (const [packageFolder, levels] of Object.entries(folderOrder)) {
  test(`the folders of ${packageFolder} import only folders below them`, () => {
    const imports = findFolderImports(packageFolder);
    assert.deepEqual(findWrongImports(imports, levels), []);
    const found = new Set(imports.flatMap(({ from, to }) => [from, to]));
    const unused = levels.flatMap((names) => names.split(' ')).filter((name) => !found.has(name));
    assert.deepEqual(unused, [], `the order of ${packageFolder} names folders that do not exist`);
  });
}

test('an import upwards, within a level, or from an unknown folder is wrong', () => {
  const importOf = (from: string, to: string): FolderImport => ({ file: from, imported: to, from, to });
  const wrong = [importOf('a', 'routes'), importOf('a', 'b'), importOf('c', 'a'), importOf('a', 'c')];
  const right = [importOf('routes', 'a'), importOf('routes', 'base'), importOf('b', 'base')];
  assert.deepEqual(
    findWrongImports([...wrong, ...right], ['routes', 'a b', 'base']),
    wrong.map(({ from, to }) => `${from} imports ${to}`),
  );
});
