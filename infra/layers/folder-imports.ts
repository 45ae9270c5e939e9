import { filesImportedBy, findSources } from './sources.ts';

/** An import from one of a package's folders to another. */
export interface FolderImport {
  readonly file: string;
  readonly imported: string;
  /** Each file's folder within the package, or the name of a file next to the folders. */
  readonly from: string;
  readonly to: string;
}

/** Finds the imports between a package's folders. Its unit tests may import anything. */
export function findFolderImports(packageFolder: string): FolderImport[] {
  const root = `${packageFolder}/src/`;
  const folderOf = (file: string): string => {
    const [first = ''] = file.slice(root.length).split('/');
    return first.replace(/\.ts$/, '');
  };
  const files = findSources(`${root}**/*.ts`).filter((file) => !file.endsWith('.test.ts'));
  return files.flatMap((file) =>
    filesImportedBy(file)
      .filter((imported) => imported.startsWith(root))
      .map((imported) => ({ file, imported, from: folderOf(file), to: folderOf(imported) }))
      .filter(({ from, to }) => from !== to),
  );
}

/** Finds the imports that do not lead from a level to one below it. */
export function findWrongImports(imports: readonly FolderImport[], levels: readonly string[]): string[] {
  const levelOf = (folder: string): number => levels.findIndex((names) => names.split(' ').includes(folder));
  return imports
    .filter(({ from, to }) => levelOf(from) === -1 || levelOf(to) <= levelOf(from))
    .map(({ file, imported }) => `${file} imports ${imported}`);
}
