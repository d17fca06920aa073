"""Calls a service with the generated client for Python. Prints a line for each call."""

import os

import mintkeep

configuration = mintkeep.Configuration(
    host=os.environ["MINTKEEP_URL"], access_token=os.environ["SESSION"]
)
with mintkeep.ApiClient(configuration) as client:
    projects = mintkeep.ProjectsApi(client)
    documents = mintkeep.DocumentsApi(client)
    keys = mintkeep.KeysApi(client)
    project = projects.create_project(mintkeep.CreateProject(name="From Python"))
    print("createProject")
    projects.list_projects()
    print("listProjects")
    content = mintkeep.CreateDocument(title="Title", slug="title", content="# Hello")
    document = documents.create_document(project.id, content)
    print("createDocument")
    assert documents.get_document(project.id, document.id).content == "# Hello"
    print("getDocument")
    documents.list_documents(project.id)
    print("listDocuments")
    key = keys.mint_key()
    print("mintKey")
    keys.list_keys()
    print("listKeys")
    keys.revoke_key(key.id)
    print("revokeKey")
    mintkeep.UsageApi(client).summarize_usage()
    print("summarizeUsage")
    mintkeep.LimitsApi(client).get_limits()
    print("getLimits")
