// The book's own directives and roles, for MyST. Sphinx fills them; here stands what ours.json says of each.

import { readFileSync } from "node:fs";

const { directives, roles } = JSON.parse(readFileSync(new URL("ours.json", import.meta.url), "utf8"));
const text = { type: String };

const directive = (name) => ({
  name,
  arg: text,
  body: text,
  run: ({ arg }, _, { parseMyst }) => parseMyst(directives[name].replace("{argument}", arg ?? "")).children,
});

const role = (name) => ({ name, body: text, run: ({ body }) => [{ type: "inlineCode", value: body }] });

// MyST reads no reStructuredText. What is written there may be one of our directives, alone.
const restructured = {
  name: "eval-rst",
  body: text,
  run: ({ body }, file, { parseMyst }) => {
    const name = body.match(/^\.\. ([\w-]+)::\s*$/)?.[1];
    if (name in directives) return parseMyst(directives[name]).children;
    file.message(`unknown directive: ${name} (in eval-rst)`).fatal = true;
    return [];
  },
};

export default {
  name: "The book's own",
  directives: [restructured, ...Object.keys(directives).map(directive)],
  roles: roles.map(role),
};
