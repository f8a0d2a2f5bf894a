/**
 * Loads the product as it was built, also what a composition's own parts import of it: two classes `AppError`, one of the
 * sources and one of the built program, would not know each other. Whoever imports this loads the rest by `import()`.
 */
import { registerHooks } from "node:module";
import { program } from "../../bin/program.mjs";

const SOURCE = /\/src\/([\w/-]+)\.ts$/;

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    const [, name] = SOURCE.exec(found.url) ?? [];
    return name === undefined ? found : { ...found, url: program(name) };
  },
});
