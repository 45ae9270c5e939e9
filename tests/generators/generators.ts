import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jar, run, type Tool, toolEnvironment, tools, versions } from './tools.ts';

/** A client generator, as its users run it. */
interface Generator {
  readonly name: string;
  readonly tools: readonly Tool[];
  /** The OpenAPI version that it reads. */
  readonly reads: '3.0' | '3.1';
  /** Generates a client from `openapi.json` in the directory. */
  generate(directory: string): Promise<unknown>;
  /** Compiles it together with the program. */
  compile(directory: string): Promise<unknown>;
  /** Runs the program with a stack's URL and a token. Resolves with what it printed. */
  start(directory: string, url: string, token: string): Promise<string>;
}

const program = (name: string): string => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

/** Makes a module from the generated package `api` and the program. */
async function makeModule(directory: string, source: string, ...needed: readonly string[]): Promise<void> {
  await writeFile(join(directory, 'go.mod'), 'module example.test/generated\n\ngo 1.24\n');
  await cp(program(source), join(directory, 'main.go'));
  for (const module of needed) await run(directory, 'go', 'get', module);
  await run(directory, 'go', 'mod', 'tidy');
}

const vet = async (directory: string): Promise<void> => {
  await run(directory, 'go', 'vet', './...');
};

const goRun = (directory: string, url: string, token: string): Promise<string> =>
  run(directory, 'go', 'run', '.', url, token);

const openapiGenerator = (directory: string, generator: string, output: string, ...more: readonly string[]) =>
  run(directory, 'java', '-jar', jar, 'generate', '-g', generator, '-i', 'openapi.json', '-o', output, ...more);

/** Makes the tools' packages known to a program in the directory. */
async function linkPackages(directory: string): Promise<void> {
  const folder = String(toolEnvironment.NODE_PATH);
  await symlink(folder, join(directory, 'node_modules')).catch(() => undefined);
  await writeFile(join(directory, 'package.json'), '{"type": "module"}');
}

/** Compiles the program and what it imports to JavaScript. */
const compileTypeScript = (directory: string) =>
  run(
    directory,
    'tsc',
    ...['--strict', '--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'],
    ...['--lib', 'es2022,dom', '--outDir', 'out', '--declaration', 'false', 'globals.d.ts', 'main.ts'],
  );

/** The part of Node that the program needs. */
const globals = 'declare const process: { readonly argv: readonly string[] };\n';

async function makeProgram(directory: string, source: string): Promise<void> {
  await linkPackages(directory);
  await writeFile(join(directory, 'globals.d.ts'), globals);
  await cp(program(source), join(directory, 'main.ts'));
}

/** Imports without extensions need a loader; each module's specifier is its file. */
const nodeRun = (directory: string, url: string, token: string): Promise<string> =>
  run(directory, 'node', '--import', loader, 'out/main.js', url, token);

const loader = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    try { return next(specifier, context); } catch (error) {
      if (!specifier.startsWith('.')) throw error;
      try { return next(specifier + '.js', context); } catch { return next(specifier + '/index.js', context); }
    }
  },
});
`)}`;

/** The generators that can use the API document (http §12.7). */
export const generators: readonly Generator[] = [
  {
    name: `oapi-codegen ${versions.oapiCodegen}`,
    tools: [tools.go, tools.oapiCodegen],
    reads: '3.0',
    async generate(directory) {
      await mkdir(join(directory, 'api'));
      await run(
        directory,
        'oapi-codegen',
        '-generate',
        'types,client',
        '-package',
        'api',
        '-o',
        'api/api.go',
        'openapi.json',
      );
    },
    async compile(directory) {
      await makeModule(directory, 'oapi-codegen.go', `github.com/oapi-codegen/runtime@${versions.oapiRuntime}`);
      await vet(directory);
    },
    start: goRun,
  },
  {
    name: `ogen ${versions.ogen}`,
    tools: [tools.go, tools.ogen],
    reads: '3.1',
    generate: (directory) => run(directory, 'ogen', '--target', 'api', '--package', 'api', 'openapi.json'),
    async compile(directory) {
      await makeModule(directory, 'ogen.go', `github.com/ogen-go/ogen@${versions.ogen}`);
      await vet(directory);
    },
    start: goRun,
  },
  {
    name: `openapi-generator ${versions.openapiGenerator}, go`,
    tools: [tools.go, tools.openapiGenerator],
    reads: '3.1',
    generate: (directory) =>
      openapiGenerator(
        directory,
        'go',
        'api',
        '--package-name',
        'api',
        '--global-property',
        'models,apis,supportingFiles',
      ),
    async compile(directory) {
      await run(directory, 'rm', '-rf', 'api/go.mod', 'api/go.sum', 'api/test');
      await makeModule(directory, 'openapi-generator.go');
      await vet(directory);
    },
    start: goRun,
  },
  {
    name: `openapi-generator ${versions.openapiGenerator}, python`,
    tools: [tools.openapiGenerator, tools.pythonLibraries],
    reads: '3.1',
    generate: (directory) => openapiGenerator(directory, 'python', '.'),
    compile: (directory) => run(directory, 'python3', '-c', 'from openapi_client import *'),
    start: (directory, url, token) => runPython(directory, 'openapi-generator.py', url, token),
  },
  {
    name: `openapi-generator ${versions.openapiGenerator}, typescript-fetch`,
    tools: [tools.openapiGenerator, tools.npmPackages],
    reads: '3.1',
    // By default it imports the form types without making them.
    generate: (directory) =>
      openapiGenerator(directory, 'typescript-fetch', 'api', '--global-property', 'skipFormModel=false'),
    async compile(directory) {
      await makeProgram(directory, 'openapi-generator.ts.txt');
      await compileTypeScript(directory);
    },
    start: nodeRun,
  },
  {
    name: `openapi-python-client ${versions.openapiPythonClient}`,
    tools: [tools.openapiPythonClient],
    reads: '3.1',
    generate: (directory) =>
      run(directory, 'openapi-python-client', 'generate', '--path', 'openapi.json', '--output-path', 'client'),
    compile: (directory) => run(join(directory, 'client'), 'python3', '-c', 'import recordbus_client.client'),
    start: (directory, url, token) => runPython(join(directory, 'client'), 'openapi-python-client.py', url, token),
  },
  {
    name: `openapi-typescript ${versions.openapiTypescript}`,
    tools: [tools.npmPackages],
    reads: '3.1',
    generate: (directory) => run(directory, 'openapi-typescript', 'openapi.json', '-o', 'schema.ts'),
    async compile(directory) {
      await makeProgram(directory, 'openapi-typescript.ts.txt');
      await compileTypeScript(directory);
    },
    start: nodeRun,
  },
];

async function runPython(directory: string, source: string, url: string, token: string): Promise<string> {
  await cp(program(source), join(directory, 'program.py'));
  return run(directory, 'python3', 'program.py', url, token);
}
