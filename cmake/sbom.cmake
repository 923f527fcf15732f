# mdpcosim.spdx.json: what is linked into the binaries, copied into them or loaded by them, with versions and licences (SPDX 2.3;
# THIRD-PARTY.md tells it to people). Made at configuration, when all of it has been found; tests/sbom_test.py compares it with the binaries.
set(sbom_packages)
set(sbom_relations)

function(sbom_package name version licence how file)
  string(MAKE_C_IDENTIFIER "${name}-${file}" id)
  string(REPLACE _ - id "SPDXRef-${id}")
  set(file_line)
  if(file)
    set(file_line "\n      \"packageFileName\": \"${file}\",")
  endif()
  string(APPEND sbom_packages ",
    {
      \"name\": \"${name}\",
      \"SPDXID\": \"${id}\",
      \"versionInfo\": \"${version}\",${file_line}
      \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"${licence}\",
      \"licenseDeclared\": \"${licence}\",
      \"copyrightText\": \"NOASSERTION\"
    }")
  string(APPEND sbom_relations ",
    {\"spdxElementId\": \"SPDXRef-mdpcosim\", \"relationshipType\": \"${how}\", \"relatedSpdxElement\": \"${id}\"}")
  set(sbom_packages "${sbom_packages}" PARENT_SCOPE)
  set(sbom_relations "${sbom_relations}" PARENT_SCOPE)
endfunction()

# A shared library by the name that the linker takes. Its version is that of the Debian package, elsewhere what its file's name says.
find_program(MDPCOSIM_DPKG_QUERY dpkg-query)
function(sbom_library name licence library)
  set(file ${library})
  if(NOT IS_ABSOLUTE ${library})
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library} OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  if(NOT IS_ABSOLUTE "${file}" OR NOT EXISTS "${file}")
    return()
  endif()
  execute_process(COMMAND ${CMAKE_READELF} -d ${file} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  get_filename_component(soname ${file} NAME)
  if(dynamic MATCHES "SONAME[^\n]*\\[([^\n]*)\\]")
    set(soname ${CMAKE_MATCH_1})
  endif()
  file(REAL_PATH ${file} real)
  string(REGEX MATCH "so\\.([0-9.]+)$" number ${real})
  set(version "${CMAKE_MATCH_1}")
  if(MDPCOSIM_DPKG_QUERY)
    # Debian knows some files by the path before /lib became a link to /usr/lib.
    string(REGEX REPLACE "^/usr/lib/" "/lib/" other ${real})
    execute_process(COMMAND ${MDPCOSIM_DPKG_QUERY} -S ${real} ${other} OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([^ \n]+): ")
      execute_process(COMMAND ${MDPCOSIM_DPKG_QUERY} -W -f \${Version} ${CMAKE_MATCH_1} OUTPUT_VARIABLE version)
    endif()
  endif()
  if(NOT version)
    set(version NOASSERTION)
  endif()
  sbom_package("${name}" "${version}" "${licence}" DYNAMIC_LINK "${soname}")
  set(sbom_packages "${sbom_packages}" PARENT_SCOPE)
  set(sbom_relations "${sbom_relations}" PARENT_SCOPE)
endfunction()

sbom_package(SUNDIALS ${SUNDIALS_VERSION} BSD-3-Clause STATIC_LINK "")
sbom_package(Eigen ${Eigen3_VERSION} MPL-2.0 STATIC_LINK "")
sbom_package(nlohmann-json ${nlohmann_json_VERSION} MIT STATIC_LINK "")
sbom_package(CLI11 ${CLI11_VERSION} BSD-3-Clause STATIC_LINK "")
sbom_package(fmt ${fmt_VERSION} MIT STATIC_LINK "")
sbom_package(libstdc++ ${CMAKE_CXX_COMPILER_VERSION} "GPL-3.0-or-later WITH GCC-exception-3.1" STATIC_LINK "")
# In exported FMUs.
sbom_package(yaml-cpp ${yaml-cpp_VERSION} MIT STATIC_LINK "")
sbom_package(pugixml ${pugixml_VERSION} MIT STATIC_LINK "")
if(MDPCOSIM_REPORTS)
  file(READ ${PROJECT_SOURCE_DIR}/web/package-lock.json wanted)
  foreach(name @dagrejs/dagre @dagrejs/graphlib uplot)
    string(JSON version GET "${wanted}" packages node_modules/${name} version)
    sbom_package(${name} ${version} MIT STATIC_LINK "")
  endforeach()
endif()
sbom_library(fmt MIT libfmt.so)
sbom_library(UDUNITS-2 LicenseRef-UCAR ${UDUNITS2_LIBRARY})
list(GET HDF5_C_LIBRARIES 0 hdf5_library)
sbom_library(HDF5 BSD-3-Clause ${hdf5_library})
sbom_library(yaml-cpp MIT libyaml-cpp.so)
sbom_library(libzip BSD-3-Clause ${ZIP_LIBRARY})
sbom_library(NLopt "LGPL-2.1-or-later AND MIT" ${NLOPT_LIBRARY})
sbom_library(pugixml MIT libpugixml.so)
sbom_library(KLU LGPL-2.1-or-later libklu.so)
sbom_library(libstdc++ "GPL-3.0-or-later WITH GCC-exception-3.1" libstdc++.so.6)
sbom_library(libgcc "GPL-3.0-or-later WITH GCC-exception-3.1" libgcc_s.so.1)
foreach(part libc.so.6 libm.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1)
  sbom_library(glibc LGPL-2.1-or-later ${part})
endforeach()
if(MDPCOSIM_MPICC_OPENMPI)
  sbom_library("Open MPI" LicenseRef-Open-MPI libmpi.so.40)
endif()
if(MDPCOSIM_MPICC_MPICH)
  sbom_library(MPICH mpich2 libmpich.so.12)
endif()
if(TARGET multibody_module)
  sbom_library(Simbody Apache-2.0 ${MDPCOSIM_SIMBODY})
  sbom_library(Simbody Apache-2.0 ${MDPCOSIM_SIMMATH})
  sbom_library(Simbody Apache-2.0 ${MDPCOSIM_SIMCOMMON})
endif()

string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)
string(SHA256 content "${sbom_packages}")
file(WRITE ${PROJECT_BINARY_DIR}/mdpcosim.spdx.json "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"mdpcosim-${PROJECT_VERSION}\",
  \"documentNamespace\": \"https://spdx.org/spdxdocs/mdpcosim-${PROJECT_VERSION}-${content}\",
  \"creationInfo\": {\"created\": \"${created}\", \"creators\": [\"Tool: mdpcosim's build\"]},
  \"packages\": [
    {
      \"name\": \"mdpcosim\",
      \"SPDXID\": \"SPDXRef-mdpcosim\",
      \"versionInfo\": \"${PROJECT_VERSION}\",
      \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"BSD-3-Clause\",
      \"licenseDeclared\": \"BSD-3-Clause\",
      \"copyrightText\": \"NOASSERTION\"
    }${sbom_packages}
  ],
  \"hasExtractedLicensingInfos\": [
    {\"licenseId\": \"LicenseRef-UCAR\", \"name\": \"UCAR licence of UDUNITS-2\", \"extractedText\": \"See /usr/share/doc/libudunits2-0/copyright or https://docs.unidata.ucar.edu/udunits/\"},
    {\"licenseId\": \"LicenseRef-Open-MPI\", \"name\": \"Open MPI licence\", \"extractedText\": \"BSD-3-Clause of several holders: https://www.open-mpi.org/community/license.php\"}
  ],
  \"relationships\": [
    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-mdpcosim\"}${sbom_relations}
  ]
}
")
