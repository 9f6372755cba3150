// The API's description, drawn from openapi.json: every operation, its parameters, bodies and answers.

const byId = (id) => document.getElementById(id);

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const code = (text) => element("code", { textContent: text });
const shapeName = (ref) => ref.split("/").at(-1);

// A schema in a few words: "string", "list of TokenOut", "integer 1 to 64 or null".
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

function fieldTable(rows) {
  const body = rows.map(({ name, schema, required, description }) => {
    const rule = required ? "required" : schema.default == null ? "" : `default ${JSON.stringify(schema.default)}`;
    return element(
      "tr",
      {},
      element("td", {}, code(name)),
      element("td", { textContent: typeOf(schema) }),
      element("td", { textContent: [rule, description ?? schema.description].filter(Boolean).join(". ") }),
    );
  });
  return element("div", { className: "table-scroll" }, element("table", {}, element("tbody", {}, ...body)));
}

function shapeTable(schema) {
  return fieldTable(
    Object.entries(schema.properties ?? {}).map(([name, property]) => ({
      name,
      schema: property,
      required: schema.required?.includes(name),
    })),
  );
}

// Paragraphs of a description; single line breaks and code marks mean nothing here.
function prose(text = "") {
  return text.split(/\n\s*\n/).map((paragraph) => {
    const textContent = paragraph.replaceAll("`", "").replace(/\s+/g, " ");
    return element("p", { className: "lead", textContent });
  });
}

function curl(path, method, example) {
  const url = location.origin + path.replace("{id}", "ID");
  if (!example) return `curl -s ${url}`;
  return `curl -s ${url} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(example)}'`;
}

function operationView(path, method, operation, shapes) {
  const view = element("details", { className: "operation", open: path === "/translate" });
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
  const reference = operation.requestBody?.content["application/json"].schema.$ref;
  const shape = reference && shapes[shapeName(reference)];
  if (shape) view.append(element("h3", { textContent: "Body (JSON)" }), shapeTable(shape));
  view.append(element("pre", {}, code(curl(path, method, shape?.examples?.[0]))));
  view.append(element("h3", { textContent: "Answers" }), answerTable(operation.responses));
  return view;
}

function answerTable(responses) {
  const rows = Object.entries(responses).map(([status, { description, content = {} }]) =>
    element(
      "tr",
      {},
      element("td", {}, code(status)),
      element("td", { textContent: description }),
      element("td", {
        textContent: Object.entries(content)
          .map(([type, { schema = {} }]) => (schema.$ref ? `${type}: ${typeOf(schema)}` : type))
          .join(", "),
      }),
    ),
  );
  return element("div", { className: "table-scroll" }, element("table", {}, element("tbody", {}, ...rows)));
}

async function show() {
  const description = await (await fetch("openapi.json")).json();
  const shapes = description.components.schemas;
  byId("lead").replaceWith(...prose(description.info.description));
  for (const [path, operations] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      byId("operations").append(operationView(path, method, operation, shapes));
    }
  }
  for (const [name, schema] of Object.entries(shapes)) {
    const view = element("details", { className: "operation" }, element("summary", {}, code(name)));
    view.append(...prose(schema.description), shapeTable(schema));
    byId("shapes").append(view);
  }
}

show().catch(() => {
  byId("lead").textContent = "The description could not be read. Is the server running?";
});
