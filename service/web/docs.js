// The API's description, drawn from openapi.json: every operation, its parameters, bodies, examples and answers.

import { byId, element } from "./dom.js";

/**
 * @typedef {object} Schema
 * @property {string} [$ref]
 * @property {Schema[]} [anyOf]
 * @property {unknown[]} [enum]
 * @property {unknown} [const]
 * @property {string} [type]
 * @property {Schema} [items]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {unknown} [default]
 * @property {string} [description]
 * @property {unknown[]} [examples]
 * @property {string[]} [required]
 * @property {Record<string, Schema>} [properties]
 */
/** @typedef {Record<string, { schema?: Schema, example?: unknown }>} Content by media type */
/** @typedef {{ name: string, schema: Schema, required?: boolean, description?: string, in?: string }} Field */
/**
 * @typedef {object} Operation
 * @property {string} [summary]
 * @property {string} [description]
 * @property {Field[]} [parameters]
 * @property {{ content: Content }} [requestBody]
 * @property {Record<string, { description: string, content?: Content }>} responses
 */
/** @typedef {Record<string, Schema>} Shapes */

const SHOWN_FIRST = "/translate"; // the one that is open

/** @param {string} text */
const code = (text) => element("code", { textContent: text });

/** @param {string} ref */
const shapeName = (ref) => ref.split("/").at(-1) ?? ref;

/**
 * A schema in a few words: "string", "list of TokenOut", "integer 1 to 64 or null".
 * @param {Schema} schema
 * @returns {string}
 */
function typeOf(schema) {
  if (schema.$ref) return shapeName(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  const { minimum, maximum } = schema;
  const range = minimum === undefined ? "" : maximum === undefined ? ` from ${minimum}` : ` ${minimum} to ${maximum}`;
  return (schema.type ?? "any") + range;
}

/** @param {HTMLTableRowElement[]} rows */
const table = (rows) =>
  element("div", { className: "table-scroll" }, element("table", {}, element("tbody", {}, ...rows)));

/** @param {Field[]} fields */
function fieldTable(fields) {
  return table(
    fields.map(({ name, schema, required, description }) => {
      const rule = required ? "required" : schema.default == null ? "" : `default ${JSON.stringify(schema.default)}`;
      return element(
        "tr",
        {},
        element("td", {}, code(name)),
        element("td", { textContent: typeOf(schema) }),
        element("td", { textContent: [rule, description ?? schema.description].filter(Boolean).join(". ") }),
      );
    }),
  );
}

/** @param {Schema} shape */
const shapeTable = (shape) =>
  fieldTable(
    Object.entries(shape.properties ?? {}).map(([name, schema]) => ({
      name,
      schema,
      required: shape.required?.includes(name),
    })),
  );

/** Paragraphs of a description; single line breaks and code marks mean nothing here. */
function prose(text = "") {
  return text.split(/\n\s*\n/).map((paragraph) => {
    const textContent = paragraph.replaceAll("`", "").replace(/\s+/g, " ");
    return element("p", { className: "lead", textContent });
  });
}

/** The example of a content's first media type that has one. @param {Content} content @param {Shapes} shapes */
function exampleOf(content, shapes) {
  for (const { schema, example } of Object.values(content)) {
    const shape = schema?.$ref ? shapes[shapeName(schema.$ref)] : schema;
    const found = example ?? shape?.examples?.[0];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @param {unknown} example */
const exampleView = (example) =>
  element("pre", { tabIndex: 0 }, code(typeof example === "string" ? example : JSON.stringify(example, null, 2)));

/** @param {string} path @param {string} method @param {unknown} body */
function curl(path, method, body) {
  const url = location.origin + path.replace(/\{(\w+)\}/g, (_, name) => name.toUpperCase());
  const verb = method === "get" || (method === "post" && body) ? "" : ` -X ${method.toUpperCase()}`;
  if (body === undefined) return `curl -s${verb} ${url}`;
  return `curl -s${verb} ${url} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`;
}

/** @param {string} path @param {string} method @param {Operation} operation @param {Shapes} shapes */
function operationView(path, method, operation, shapes) {
  const view = element("details", { className: "operation", open: path === SHOWN_FIRST });
  view.append(
    element(
      "summary",
      {},
      element("span", { className: "method", textContent: method.toUpperCase() }),
      code(path),
      element("span", { className: "purpose", textContent: operation.summary ?? "" }),
    ),
    ...prose(operation.description),
  );
  if (operation.parameters?.length) {
    view.append(element("h3", { textContent: "Parameters" }), fieldTable(operation.parameters));
  }
  const content = operation.requestBody?.content ?? {};
  for (const [type, { schema }] of Object.entries(content)) {
    view.append(element("h3", { textContent: `Body (${type})` }));
    if (schema?.$ref) view.append(shapeTable(shapes[shapeName(schema.$ref)]));
  }
  const body = content["application/json"] && exampleOf(content, shapes);
  view.append(element("pre", { tabIndex: 0 }, code(curl(path, method, body))));
  view.append(element("h3", { textContent: "Answers" }), answerTable(operation.responses));
  for (const [status, answer] of Object.entries(operation.responses)) {
    const example = status.startsWith("2") && exampleOf(answer.content ?? {}, shapes);
    if (example) view.append(element("h3", { textContent: `Example of ${status}` }), exampleView(example));
  }
  return view;
}

/** @param {Operation["responses"]} responses */
function answerTable(responses) {
  return table(
    Object.entries(responses).map(([status, { description, content = {} }]) =>
      element(
        "tr",
        {},
        element("td", {}, code(status)),
        element("td", { textContent: description }),
        element("td", {
          textContent: Object.entries(content)
            .map(([type, { schema }]) => (schema?.$ref ? `${type}: ${typeOf(schema)}` : type))
            .join(", "),
        }),
      ),
    ),
  );
}

async function show() {
  const description = await (await fetch("openapi.json")).json();
  /** @type {Shapes} */
  const shapes = description.components.schemas;
  /** @type {[string, Record<string, Operation>][]} */
  const paths = Object.entries(description.paths);
  paths.sort(([a], [b]) => Number(b === SHOWN_FIRST) - Number(a === SHOWN_FIRST));
  byId("lead").replaceWith(...prose(description.info.description));
  for (const [path, operations] of paths) {
    for (const [method, operation] of Object.entries(operations)) {
      byId("operations").append(operationView(path, method, operation, shapes));
    }
  }
  for (const [name, schema] of Object.entries(shapes)) {
    const view = element("details", { className: "operation" }, element("summary", {}, code(name)));
    view.append(...prose(schema.description), shapeTable(schema));
    for (const example of schema.examples ?? []) view.append(exampleView(example));
    byId("shapes").append(view);
  }
}

show().catch(() => {
  byId("lead").textContent = "The description could not be read. Is the server running?";
});
